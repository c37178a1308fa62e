"""A minimal index of GraphRAG in CSV: one document, one text unit, two entities and their relationship."""

from __future__ import annotations

_TEXT = "Mara Venn built the Ostrel lighthouse."
_UNIT = "t1"

EXAMPLE = {
    "documents.csv": (
        "id,human_readable_id,title,text,text_unit_ids,creation_date,raw_data\n"
        f"d1,0,harbour.txt,{_TEXT},['{_UNIT}'],2026-01-05 00:00:00 +0000,\n"
    ),
    "text_units.csv": (
        "id,human_readable_id,text,n_tokens,document_id,entity_ids,relationship_ids,covariate_ids\n"
        f"{_UNIT},0,{_TEXT},9,d1,\"['e1', 'e2']\",['r1'],[]\n"
    ),
    "entities.csv": (
        "id,human_readable_id,title,type,description,text_unit_ids,frequency,degree\n"
        f"e1,0,MARA VENN,PERSON,An engineer,['{_UNIT}'],1,1\n"
        f"e2,1,OSTREL LIGHTHOUSE,GEO,A lighthouse,['{_UNIT}'],1,1\n"
    ),
    "relationships.csv": (
        "id,human_readable_id,source,target,description,weight,combined_degree,text_unit_ids\n"
        f"r1,0,MARA VENN,OSTREL LIGHTHOUSE,Mara Venn built it,9.0,2,['{_UNIT}']\n"
    ),
    "communities.csv": (
        "id,human_readable_id,community,level,parent,children,title,entity_ids,relationship_ids,text_unit_ids,period,"
        "size\n"
        f"c1,0,0,0,-1,[],Community 0,\"['e1', 'e2']\",['r1'],['{_UNIT}'],2026-01-05,2\n"
    ),
    "community_reports.csv": (
        "id,human_readable_id,community,level,parent,children,title,summary,full_content,rank,rating_explanation,"
        "findings,full_content_json,period,size\n"
        'p1,0,0,0,-1,[],The light,Mara Venn built it.,"# The light\n\nMara Venn built it.",6.0,'
        "Local.,[],,2026-01-05,2\n"
    ),
}
